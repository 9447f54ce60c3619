#!/bin/bash
# backup.sh SOURCE TARGET DAY: copy the files of SOURCE to TARGET/DAY, keep the newest three backups
if [ $# != 3 ] || ! [[ $3 =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]]; then
    echo "usage: backup.sh SOURCE TARGET YYYY-MM-DD" >&2
    exit 64
fi
mkdir -p $2/$3
cd $1
for file in `find . -type f`; do
    mkdir -p $2/$3/`dirname $file`
    cp $file $2/$3/$file
done
cd $2
for old in `ls -t | tail -n +4`; do
    rm -rf $old
done
