"""Making what an episode needs beside the package: the Blender interpreter, tools for tasks, the Docker image."""
