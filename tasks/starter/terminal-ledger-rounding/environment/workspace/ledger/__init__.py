"""Invoices to the cent."""
