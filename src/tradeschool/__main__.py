"""`python -m tradeschool`"""

from tradeschool.cli import main

if __name__ == "__main__":
    main()
