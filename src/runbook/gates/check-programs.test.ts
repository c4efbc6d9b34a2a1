import { describe, expect, it } from 'vitest';
import { importsOf, programsOf } from './check-programs.ts';

describe('the programs of a command', () => {
  it.each<[string, readonly string[]]>([
    ['sh ci/run.sh', ['ci/run.sh']],
    ['./ci/run.sh --fast', ['ci/run.sh']],
    ['ci/run.sh', ['ci/run.sh']],
    ['node scripts/check.mjs', ['scripts/check.mjs']],
    ['node --no-warnings --max-old-space-size=4096 scripts/check.mjs', ['scripts/check.mjs']],
    ['node -r ./setup.cjs scripts/check.mjs', ['setup.cjs', 'scripts/check.mjs']],
    ['node --import=./hooks.mjs scripts/check.mjs', ['hooks.mjs', 'scripts/check.mjs']],
    ['CI=1 NODE_ENV=test node scripts/check.mjs', ['scripts/check.mjs']],
    ['env CI=1 bash -eu ci/run.sh', ['ci/run.sh']],
    ['env -u HOME bash ci/run.sh', ['ci/run.sh']],
    ['bash -euo pipefail ci/run.sh', ['ci/run.sh']],
    ['timeout -k 5 60 python3 tools/check.py', ['tools/check.py']],
    ['python3.12 -X dev tools/check.py', ['tools/check.py']],
    ['uv run python tools/check.py', ['tools/check.py']],
    ['npx tsx scripts/check.ts', ['scripts/check.ts']],
    ['bun run scripts/check.ts', ['scripts/check.ts']],
    ['deno run -A scripts/check.ts', ['scripts/check.ts']],
    ['cd ci && sh run.sh', ['ci/run.sh']],
    ['(cd ci; ./run.sh)', ['ci/run.sh']],
    ['npm ci && node "scripts/check it.mjs" || exit 1', ['scripts/check it.mjs']],
    ["sh -c 'sh ci/a.sh; ci/b.sh'", ['ci/a.sh', 'ci/b.sh']],
    ['bash -lc "cd ci && ./run.sh"', ['ci/run.sh']],
    ['. ci/env.sh; make', ['ci/env.sh']],
    ['if ./ci/ready; then sh ci/run.sh; fi', ['ci/ready', 'ci/run.sh']],
    ['exec ./gradlew check', ['gradlew']],
    ['# sh ci/other.sh\nsh ci/run.sh', ['ci/run.sh']],
    ['node_modules/.bin/eslint .', ['node_modules/.bin/eslint']],
  ])('%s', (command, expected) => expect(programsOf(command)).toEqual(expected));

  it.each([
    'npm test',
    'npm run check',
    'make test',
    'cargo test --all',
    'node --test',
    'node --test test/index.test.js',
    'node test/index.test.js',
    'python -m pytest tests',
    'python tests/test_all.py',
    'pytest tests/test_all.py',
    'node -e \'require("./x")\'',
    'sh ci/*.sh',
    'sh $SCRIPT',
    'sh "$(pwd)/ci/run.sh"',
    'bash /usr/local/bin/run.sh',
    'sh ../outside.sh',
    'bun run check',
    'eslint src',
    '',
  ])('none: %s', (command) => expect(programsOf(command)).toEqual([]));
});

describe('the imports of a script', () => {
  const siblings = ['ci/run.sh', 'ci/lib.sh', 'ci/other.sh', 'ci/lib.mjs', 'ci/run.mjs', 'ci/lib.test.mjs', 'ci/tools.py', 'ci/README.md']; // prettier-ignore
  it.each<[string, string, readonly string[]]>([
    ['ci/run.sh', '. ./lib.sh\n', ['ci/lib.sh']],
    ['ci/run.sh', 'source "$(dirname "$0")/lib.sh"\nsh "$HERE/other.sh"\n', ['ci/lib.sh', 'ci/other.sh']],
    ['ci/run.mjs', "import { a } from './lib.mjs';\n", ['ci/lib.mjs']],
    ['ci/run.mjs', "const a = require('./lib')\n", ['ci/lib.mjs']],
    ['ci/run.mjs', "await import('./lib.test.mjs')\n", []],
    ['ci/run.py', 'from tools import check\n', ['ci/tools.py']],
    ['ci/run.py', 'import os, tools\n', ['ci/tools.py']],
    ['ci/run.sh', 'cat README.md; echo mylib.sh another.sh\n', []],
  ])('%s: %j', (path, text, expected) => expect(importsOf(path, text, siblings)).toEqual(expected));
});
