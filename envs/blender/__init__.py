"""The blender trade."""
