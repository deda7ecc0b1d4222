#!/usr/bin/env bash
# Run each shell block of README that is marked with <!-- run -->, in a scratch copy of the checkout.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$here/rules" "$scratch/rules"
python3 - "$here/README.md" > "$scratch/block.sh" <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"<!-- run -->\n```sh\n(.*?)```", text, re.DOTALL)
assert blocks, "README has no block to run"
print("\n".join(blocks))
PY
cd "$scratch"
bash -euo pipefail block.sh > out.txt
test -s out.txt
echo "README's commands ran: $(grep -c . block.sh) lines, $(wc -l < out.txt) lines of output"
