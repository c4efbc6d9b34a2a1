# Writes 200 MB in small files, alternating between the given folders, and then creates the file `filled`.
touch filling
i=0
while [ $i -lt 200 ]; do
  for folder in "$@"; do
    mkdir -p "$folder"
    head -c 1048576 /dev/zero >"$folder/fill-$i"
    i=$((i + 1))
  done
  sleep 0.02
done
touch filled
sleep 60
