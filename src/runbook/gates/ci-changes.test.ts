import { describe, expect, it } from 'vitest';
import { changesNoCommand, mayChangeQuietly } from './ci-changes.ts';

const COMMIT = '11bd71901bbe5b1630ceea73d27597364c9af683';
const OTHER_COMMIT = 'de0fac2e4500dabe0009e67214ff5f5447ce83dd';

const WORKFLOW = `on: push
jobs:
  call:
    uses: owner/shared/.github/workflows/build.yml@v1
  test:
    runs-on: ubuntu-24.04
    container: node:24
    env:
      uses: owner/variable@v1
    steps:
      - uses: actions/checkout@v4
        with: { uses: owner/input@v1 }
      - uses: owner/mono/setup@${COMMIT} # v1.2.3
      - run: |
          uses: owner/text@v1
          npm test
      - { name: flow, uses: 'owner/quoted@v1', with: { a: b } }
      - uses: owner/branch@main
      - uses: owner/expression@\${{ matrix.version }}
`;

const PRE_COMMIT = `repos:
  - repo: https://example.com/owner/hooks
    rev: v1.2.0
    hooks:
      - id: format
        args: [--rev, v1.2.0]
  - repo: https://example.com/owner/other
    rev: "24.1.0" # frozen
    hooks: [{ id: lint }]
`;

const ACTION = `name: a
runs:
  using: composite
  steps:
    - uses: actions/cache@v4.0.1
    - run: true
      shell: sh
`;

const CI = '.github/workflows/ci.yml';
const HOOKS = '.pre-commit-config.yaml';

function changes(path: string, before: string, replaced: string, by: string): boolean {
  expect(before).toContain(replaced);
  return changesNoCommand(
    path,
    before,
    before.replace(replaced, () => by),
  );
}

describe('a change of versions alone', () => {
  it.each<[string, string, string, string, string]>([
    ['the version of an action', CI, WORKFLOW, 'checkout@v4', 'checkout@v5.0.1'],
    ['the commit of an action', CI, WORKFLOW, COMMIT, OTHER_COMMIT],
    ['a commit and its comment', CI, WORKFLOW, `${COMMIT} # v1.2.3`, `${OTHER_COMMIT} # tag=v2.0.0`],
    ['a new comment', CI, WORKFLOW, 'checkout@v4', 'checkout@v5 # v5.0.0'],
    ['a removed comment', CI, WORKFLOW, `${COMMIT} # v1.2.3`, OTHER_COMMIT],
    ['a reusable workflow', CI, WORKFLOW, 'build.yml@v1', 'build.yml@v2'],
    ['flow style with quotes', CI, WORKFLOW, 'quoted@v1', 'quoted@v2'],
    ['a workflow of a forge', '.forgejo/workflows/a.yaml', WORKFLOW, 'checkout@v4', 'checkout@v5'],
    ['a path in another case', '.GitHub/Workflows/CI.YML', WORKFLOW, 'checkout@v4', 'checkout@v5'],
    ['a composite action', '.github/actions/a/b/action.yml', ACTION, 'v4.0.1', 'v4.0.2'],
    ['a hook', HOOKS, PRE_COMMIT, 'rev: v1.2.0', 'rev: v1.3.0'],
    ['a quoted hook', HOOKS, PRE_COMMIT, '"24.1.0" # frozen', '"24.2.0"'],
    ['lines that end with CRLF', CI, WORKFLOW.replaceAll('\n', '\r\n'), `${COMMIT} # v1.2.3`, OTHER_COMMIT],
    ['a frozen hook', HOOKS, PRE_COMMIT, '"24.1.0" # frozen', '"24.2.0"  # frozen: v24.2.0'],
    ['no last line end', HOOKS, 'repos: [{repo: a, rev: v1}, {repo: b,\n rev: v1}]', 'v1}]', 'v2}]'],
  ])('%s', (_, path, before, replaced, by) => expect(changes(path, before, replaced, by)).toBe(true));

  it('of several dependencies', () => {
    const after = WORKFLOW.replace('checkout@v4', 'checkout@v5').replace('build.yml@v1', 'build.yml@v2');
    expect(changesNoCommand(CI, WORKFLOW, after)).toBe(true);
  });
});

const MATRIX = `# What CI does.
on: push
jobs:
  test:
    strategy:
      fail-fast: true
      matrix:
        os: [ubuntu-24.04]
        python: ['3.13', '3.14']
        node:
          - 22
          - 24
        include:
          - rust: 1.85.0
            os: windows
            flags: --all
    timeout-minutes: 10
    steps:
      - uses: actions/setup-python@v5
        with:
          python-version: '3.14'
          cache: pip
      - uses: actions/cache@v4
        with:
          key: modules-v7-\${{ hashFiles('yarn.lock') }}
      - run: |
          # not a comment of YAML
          timeout-minutes: 3
          npm test
        timeout-minutes: 5
`;

describe('a change of what no command sees, or of a version', () => {
  it.each<[string, string, string]>([
    ['a comment', '# What CI does.', '# What CI is for: npm test'],
    ['a removed comment', '# What CI does.\n', ''],
    ['a new comment', '    strategy:', '  # more\n    # and more\n    strategy:'],
    ['a flag of the matrix', 'fail-fast: true', 'fail-fast: false'],
    ['a limit that is added', '      fail-fast: true', '      fail-fast: true\n      max-parallel: 3'],
    ['a limit that is removed', '      fail-fast: true\n', ''],
    ['a timeout', 'minutes: 10', 'minutes: 60'],
    ['the timeout of a step', '        timeout-minutes: 5\n', ''],
    ['a version of the matrix', '1.85.0', '1.96'],
    ['one more version in brackets', "'3.14']", "'3.14', '3.15']"],
    ['one less version', "'3.13', ", ''],
    ['one more version on a line', '          - 24\n', '          - 24\n          - 26\n'],
    ['the version of a tool', "python-version: '3.14'", "python-version: '3.15t'"],
    ['the number of a cache', 'modules-v7-', 'modules-v8-'],
  ])('%s', (_, text, by) => expect(changes(CI, MATRIX, text, by)).toBe(true));

  it.each<[string, string, string]>([
    ['a comment that ends for some readers', '# What CI does.', '# What\u2028x: 1'],
    ['a comment with a carriage return', '# What CI does.', '# What\rx: 1'],
    ['a comment that hides a line', 'on: push', '# on: push'],
    ['a comment after a value', 'on: push', 'on: push # x'],
    ['a line of a command that looks like a comment', '# not a comment of YAML', '# but a line of it'],
    ['a line of a command that looks like a limit', 'minutes: 3', 'minutes: 4'],
    ['a step that may fail', 'timeout-minutes: 5', 'continue-on-error: true'],
    ['an expression for a limit', 'fail-fast: true', 'fail-fast: ${{ inputs.x }}'],
    ['a limit of an unknown place', 'cache: pip', 'cache: pip\n          fail-fast: true'],
    ['another platform', 'ubuntu-24.04', 'self-hosted'],
    ['a version beside what is none', 'os: [ubuntu-24.04]', 'os: [ubuntu-24.04, 24.04]'],
    ['a word among the versions', "'3.14']", "'3.14', main]"],
    ['an expression among the versions', "'3.14']", "'3.14', '${{ inputs.x }}']"],
    ['a version with a command', "'3.13'", "'3.13; true'"],
    ['no version at all', "['3.13', '3.14']", '[]'],
    ['a version for a list', "['3.13', '3.14']", "'3.14'"],
    ['a list over two lines with more', "'3.14']", "'3.14'\n        ]\n        other: [1"],
    ['a flag of a command', '--all', '--none'],
    ['another key of the cache', 'modules-v7-', 'others-v7-'],
    ['another input', 'cache: pip', 'cache: npm'],
    ['an anchor on a list', "python: ['3.13'", "python: &a ['3.13'"],
    ['a tag on a version', '- 22', '- !!str 22'],
    ['a key that is there twice', '    timeout-minutes: 10\n', '    timeout-minutes: 10\n    timeout-minutes: 11\n'],
  ])('but not %s', (_, text, by) => expect(changes(CI, MATRIX, text, by)).toBe(false));
});

describe('more than a change of versions', () => {
  it.each<[string, string, string]>([
    ['another owner', 'actions/checkout@v4', 'evil/checkout@v5'],
    ['another action', 'actions/checkout@v4', 'actions/checkouts@v4'],
    ['another path', 'owner/mono/setup@', 'owner/mono/other@'],
    ['a path instead of an action', 'actions/checkout@v4', './checkout@v4'],
    ['an image instead of an action', 'actions/checkout@v4', 'docker://checkout@v4'],
    ['an added step', 'checkout@v4\n', 'checkout@v5\n      - uses: actions/checkout@v5\n'],
    ['a removed step', '      - uses: owner/branch@main\n', ''],
    ['a command beside it', 'checkout@v4\n', 'checkout@v5\n        run: "true"\n'],
    ['another command', 'npm test', 'npm run other'],
    ['text of a command', 'owner/text@v1', 'owner/text@v2'],
    ['a variable of this name', 'owner/variable@v1', 'owner/variable@v2'],
    ['an input of this name', 'owner/input@v1', 'owner/input@v2'],
    ['a branch for a version', 'checkout@v4', 'checkout@main'],
    ['a version for a branch', 'branch@main', 'branch@v1'],
    ['another branch', 'branch@main', 'branch@develop'],
    ['a version for a commit', COMMIT, 'v1'],
    ['a commit for a version', 'checkout@v4', `checkout@${COMMIT}`],
    ['an expression', 'checkout@v4', 'checkout@${{ github.head_ref }}'],
    ['an expression in a version', 'checkout@v4', 'checkout@v4${{ github.head_ref }}'],
    ['another expression', 'matrix.version', 'matrix.other'],
    ['a version with a space', 'checkout@v4', 'checkout@v4 v5'],
    ['a version with a slash', 'checkout@v4', 'checkout@4/../../evil'],
    ['an empty version', 'checkout@v4', 'checkout@'],
    ['a value of two lines', 'checkout@v4\n', 'checkout@v4\n         more\n'],
    ['another quote', "'owner/quoted@v1'", '"owner/quoted@v2"'],
    ['a value in a block', ' actions/checkout@v4', ' >-\n          actions/checkout@v5'],
    ['a comment of more words', 'checkout@v4', 'checkout@v5 # v5 zizmor: ignore[unpinned-uses]'],
    ['a comment that ends its line for some readers', 'checkout@v4', 'checkout@v5 # v5\u2028        run: "true"'],
    ['a comment with a carriage return', 'checkout@v4', 'checkout@v5 # v5\r        run: "true"'],
    ['a second key', 'uses: actions/checkout@v4', 'uses: actions/checkout@v4\n        uses: actions/checkout@v5'],
    ['a tag', 'actions/checkout@v4', '!!str actions/checkout@v5'],
    ['an anchor', 'actions/checkout@v4', '&a actions/checkout@v5'],
    ['a tab as indentation', '        with: {', '\twith: {'],
    ['other line ends', 'checkout@v4\n', 'checkout@v5\r\n'],
    ['a text with an error', 'on: push', 'on: [push'],
    ['another trigger', 'on: push', 'on: pull_request_target'],
    ['another image', 'node:24', 'node:25'],
    ['nothing', 'on: push', 'on: push'],
  ])('%s', (_, replaced, by) => expect(changes(CI, WORKFLOW, replaced, by)).toBe(false));

  it.each<[string, string, string]>([
    ['another repository', 'owner/hooks', 'evil/hooks'],
    ['another argument', '[--rev, v1.2.0]', '[--rev, v1.3.0]'],
    ['an option of git', 'rev: v1.2.0', 'rev: --upload-pack=x'],
    ['a branch', 'rev: v1.2.0', 'rev: main'],
    ['another hook', 'id: format', 'id: other'],
  ])('hooks: %s', (_, replaced, by) => expect(changes(HOOKS, PRE_COMMIT, replaced, by)).toBe(false));

  it.each<[string, string]>([
    ['an alias', WORKFLOW.replace('on: push', 'on: push\nx: &a 1\ny: *a')],
    ['an anchored version', `${ACTION.replace('actions/cache', '&a actions/cache')}    - name: *a\n`],
    ['a second document', `${WORKFLOW}---\na: 1\n`],
    ['bytes that are no text', `${WORKFLOW}# \u{FFFD}\n`],
    ['duplicate keys', WORKFLOW.replace('on: push', 'on: push\non: pull_request')],
    ['more levels than the stack has', WORKFLOW.replace('on: push', `on:\n  ${'- '.repeat(20_000)}push`)],
    ['a file that is no YAML', WORKFLOW.replace('on: push', 'on: "push')],
  ])('any change in a file with %s', (_, text) => {
    const [path, old, by] = text.includes('composite') ? ['.github/actions/a/action.yml', 'cache@v4.0.1', 'cache@v4.0.2'] : [CI, 'checkout@v4', 'checkout@v5']; // prettier-ignore
    expect(changes(path, text, old, by)).toBe(false);
  });

  it.each([
    'src/ci.yml',
    '.github/workflows/data/ci.yml',
    '.github/workflows/ci.txt',
    '.gitlab-ci.yml',
    'package.json',
  ])('a change of %s', (path) => {
    expect(changes(path, WORKFLOW, 'checkout@v4', 'checkout@v5')).toBe(false);
    expect(mayChangeQuietly(path)).toBe(false);
  });
});
