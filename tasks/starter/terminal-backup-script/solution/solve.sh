#!/bin/bash
set -euo pipefail
cat > /workspace/backup.sh <<'SH'
#!/bin/bash
# backup.sh SOURCE TARGET DAY: copy the files of SOURCE to TARGET/DAY, keep the newest three backups
set -euo pipefail
day='^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
if [ $# != 3 ] || ! [[ $3 =~ $day ]]; then
    echo "usage: backup.sh SOURCE TARGET YYYY-MM-DD" >&2
    exit 64
fi
if [ ! -d "$1" ]; then
    echo "backup.sh: $1 is not a folder" >&2
    exit 2
fi
mkdir -p -- "$2/$3"
source=$(cd -- "$1" && pwd) target=$(cd -- "$2" && pwd)
(cd -- "$source" && find . -type f -print0) | while IFS= read -r -d '' file; do
    mkdir -p -- "$target/$3/$(dirname -- "$file")"
    cp -p -- "$source/$file" "$target/$3/$file"
done
kept=0
while IFS= read -r -d '' old; do
    name=${old##*/}
    [[ $name =~ $day ]] || continue
    kept=$((kept + 1))
    [ "$kept" -le 3 ] || rm -rf -- "$old"
done < <(find "$target" -mindepth 1 -maxdepth 1 -type d -print0 | sort -rz)
SH
chmod +x /workspace/backup.sh
