"""Pure graders: functions of data, without an engine."""
