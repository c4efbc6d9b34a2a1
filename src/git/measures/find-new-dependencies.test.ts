import { describe, expect, it } from 'vitest';
import { findNewDependencies } from './dependencies.ts';

/** One manifest or lock file per ecosystem, before and after a new dependency such as `left-pad`. */
const CASES: readonly {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly adds: string;
}[] = [
  {
    path: 'package.json',
    before: '{"dependencies":{"react":"^19.0.0"}}',
    after: '{"dependencies":{"react":"^19.1.0"},"devDependencies":{"left-pad":"1.3.0"}}',
    adds: 'npm left-pad',
  },
  {
    path: 'app/package-lock.json',
    before: '{"lockfileVersion":3,"packages":{"":{"name":"x"},"node_modules/react":{"version":"19.0.0"}}}',
    after:
      '{"lockfileVersion":3,"packages":{"":{"name":"x"},"node_modules/react":{},"node_modules/react/node_modules/@scope/left-pad":{}}}',
    adds: 'npm @scope/left-pad',
  },
  {
    path: 'package-lock.json',
    before: '{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0"}}}',
    after:
      '{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","dependencies":{"left-pad":{"version":"1.3.0"}}}}}',
    adds: 'npm left-pad',
  },
  {
    path: 'pnpm-lock.yaml',
    before: "lockfileVersion: '9.0'\npackages:\n  react@19.0.0:\n    resolution: {integrity: sha512-x}\n",
    after:
      "lockfileVersion: '9.0'\npackages:\n  react@19.1.0:\n    resolution: {integrity: sha512-y}\n  '@scope/left-pad@1.0.0(react@19.1.0)':\n    resolution: {integrity: sha512-z}\n",
    adds: 'npm @scope/left-pad',
  },
  {
    path: 'yarn.lock',
    before: '# yarn lockfile v1\n\nreact@^19.0.0:\n  version "19.0.0"\n',
    after:
      '# yarn lockfile v1\n\n"@scope/left-pad@^1.0.0", "@scope/left-pad@~1.1.0":\n  version "1.1.0"\n\nreact@^19.0.0:\n  version "19.0.0"\n  dependencies:\n    other "^1"\n',
    adds: 'npm @scope/left-pad',
  },
  {
    path: 'bun.lock',
    before: '{"lockfileVersion":1,"workspaces":{"":{"name":"x",},},"packages":{"react":["react@19.0.0","",{},"sha"],}}',
    after:
      '{"lockfileVersion":1,"packages":{"react":["react@19.0.0","",{},"sha"],"left-pad":["left-pad@1.3.0","",{},"sha"],"x":["x@workspace:packages/x"],}}',
    adds: 'npm left-pad',
  },
  {
    path: 'pyproject.toml',
    before: '[project]\ndependencies = ["Flask_Login>=1"]\n',
    after: '[project]\ndependencies = ["flask-login>=2", "requests[socks]>=2; python_version < \\"4\\""]\n',
    adds: 'python requests',
  },
  {
    path: 'pyproject.toml',
    before: '[tool.poetry.dependencies]\npython = "^3.12"\n',
    after: '[tool.poetry.dependencies]\npython = "^3.13"\n[tool.poetry.group.dev.dependencies]\nrequests = "^2"\n',
    adds: 'python requests',
  },
  {
    path: 'requirements-dev.txt',
    before: 'flask==3.0 # web\n-r base.txt\n',
    after: 'flask==3.1\n-r base.txt\n--hash=sha256:00\n-e git+https://example.org/r.git#egg=requests\n',
    adds: 'python requests',
  },
  {
    path: 'uv.lock',
    before: 'version = 1\n[[package]]\nname = "app"\nsource = { virtual = "." }\n',
    after:
      'version = 1\n[[package]]\nname = "app"\nsource = { virtual = "." }\n[[package]]\nname = "requests"\nversion = "2.0"\n',
    adds: 'python requests',
  },
  {
    path: 'poetry.lock',
    before: '[[package]]\nname = "flask"\n',
    after: '[[package]]\nname = "flask"\n[[package]]\nname = "requests"\n',
    adds: 'python requests',
  },
  {
    path: 'Cargo.toml',
    before: '[dependencies]\nserde = "1"\n',
    after:
      '[dependencies]\nserde = { version = "1", features = ["derive"] }\n[target."cfg(unix)".dev-dependencies]\nio = { package = "tokio", version = "1" }\n',
    adds: 'cargo tokio',
  },
  {
    path: 'Cargo.lock',
    before: '[[package]]\nname = "mine"\nversion = "0.1.0"\n',
    after:
      '[[package]]\nname = "mine"\nversion = "0.1.0"\n[[package]]\nname = "tokio"\nversion = "1.0.0"\nsource = "registry+https://example.org"\n',
    adds: 'cargo tokio',
  },
  {
    path: 'package.json',
    before: '{"name":"x","dependencies":{"react":"1","own":"workspace:*"}}',
    after:
      '{"name":"x","dependencies":{"react":"npm:left-pad@1.3.0","own":"workspace:*","more":"workspace:^"},"peerDependencies":{"react":"1"}}',
    adds: 'npm left-pad',
  },
  {
    path: 'package.json',
    before: '{"dependencies":{"react":"1"},"overrides":{"a":"2"}}',
    after: '{"dependencies":{"react":"1"},"overrides":{"a":{"b":"npm:@scope/left-pad@1"}},"resolutions":{"c":"2"}}',
    adds: 'npm @scope/left-pad',
  },
  {
    path: 'package-lock.json',
    before: '{"lockfileVersion":3,"packages":{"":{}}}',
    after:
      '{"lockfileVersion":3,"packages":{"":{},"packages/own":{},"node_modules/own":{"resolved":"packages/own","link":true},"node_modules/left-pad":{}}}',
    adds: 'npm left-pad',
  },
  {
    path: 'yarn.lock',
    before: '"react@npm:^19.0.0":\n  version: 19.0.0\n',
    after: '"react@npm:^19.0.0":\n  version: 19.0.0\n\n"react@npm:left-pad@^1.3.0":\n  version: 1.3.0\n',
    adds: 'npm left-pad',
  },
  {
    path: 'requirements.txt',
    before: '-r requirements/base.txt\n',
    after: '-r requirements/base.txt\n-r requirements/dev.txt\n-r more.txt\n',
    adds: 'python -r more.txt',
  },
  {
    path: 'setup.cfg',
    before: '[metadata]\nname = x\n[options]\ninstall_requires =\n    flask\n',
    after:
      '[metadata]\nname = y\n[options]\npackages = find:\ninstall_requires =\n    flask>=2; python_version < "4"\n[options.extras_require]\ntest = flask; requests>=2\n',
    adds: 'python requests',
  },
  {
    path: 'setup.py',
    before: 'setup(name="x", install_requires=["flask"])',
    after:
      'setup(\n  name="y",\n  install_requires=["flask[async]>=2"],\n  extras_require={"dev": ["requests>=2"]},\n)\n',
    adds: 'python requests',
  },
  {
    path: 'pylock.toml',
    before: 'lock-version = "1.0"\n',
    after: '[[packages]]\nname = "own"\ndirectory = { path = "." }\n[[packages]]\nname = "requests"\nversion = "2"\n',
    adds: 'python requests',
  },
  {
    path: 'uv.lock',
    before: 'version = 1\n',
    after:
      '[[package]]\nname = "own"\nsource = { editable = "packages/own" }\n[[package]]\nname = "requests"\nsource = { registry = "x" }\n',
    adds: 'python requests',
  },
  {
    path: 'Cargo.toml',
    before: '[dependencies]\nserde = "1"\n',
    after: '[dependencies]\nserde = "1"\nown = { path = "../own" }\ntokio = { git = "x" }\n',
    adds: 'cargo tokio',
  },
  {
    path: 'go.mod',
    before: 'module example.org/x\n\nrequire example.org/a v1.0.0\n',
    after:
      'module example.org/x\n\nrequire example.org/a v1.0.0\nreplace example.org/a => example.org/b v1.0.0\ntool example.org/a/cmd\n',
    adds: 'go example.org/b',
  },
  {
    path: 'go.mod',
    before: 'module example.org/x\n\ngo 1.24\n\nrequire example.org/a v1.0.0\n',
    after:
      'module example.org/x\n\ngo 1.24\n\nrequire (\n\texample.org/a v1.1.0\n\texample.org/b v1.0.0 // indirect\n)\nreplace example.org/a => ./a\n',
    adds: 'go example.org/b',
  },
  {
    path: 'go.sum',
    before: 'example.org/a v1.0.0 h1:x=\n',
    after: 'example.org/a v1.1.0 h1:x=\nexample.org/b v1.0.0/go.mod h1:y=\n',
    adds: 'go example.org/b',
  },
];

describe('new dependencies of a change', () => {
  it.each(CASES)('$path: $adds, and nothing else', ({ path, before, after, adds }) => {
    const { added, unreadable } = findNewDependencies([{ path, before, after }]);
    expect(unreadable).toEqual([]);
    expect(added.map(({ ecosystem, name }) => `${ecosystem} ${name}`)).toEqual([adds]);
    expect(findNewDependencies([{ path, before: after, after }]).added, 'an old one is not new').toEqual([]);
    expect(findNewDependencies([{ path, before: after, after: before }]).added, 'what goes is not new').toEqual([]);
  });

  it('recognises a dependency that moved between manifests', () => {
    const whole = '{"dependencies":{"react":"1"}}';
    const moved = [
      { path: 'package.json', before: whole, after: '{}' },
      { path: 'packages/a/package.json', before: undefined, after: whole },
    ];
    expect(findNewDependencies(moved).added).toEqual([]);
  });

  it.each([
    ['package.json', '{"name":"@x/own"}', '{"dependencies":{"@x/own":"^1.0.0"}}'],
    ['pyproject.toml', '[project]\nname = "X_Own"\n', '[project]\ndependencies = ["x-own"]\n'],
    ['Cargo.toml', '[package]\nname = "own"\n', '[dependencies]\nown = { workspace = true }\n'],
    ['go.mod', 'module example.org/own\n', 'module m\nrequire example.org/own v0.0.0\n'],
  ])('takes no package of the repository itself for a dependency: %s', (name, own, asking) => {
    const before = { path: `packages/own/${name}`, before: own, after: own };
    expect(findNewDependencies([before, { path: name, before: undefined, after: asking }]).added).toEqual([]);
    // A new package of the repository with that name does not make the dependency known.
    const late = { ...before, before: undefined };
    expect(findNewDependencies([late, { path: name, before: undefined, after: asking }]).added).toHaveLength(1);
  });

  it('names every file that contains it', () => {
    const changes = [
      { path: 'package.json', before: '{}', after: '{"dependencies":{"left-pad":"1"}}' },
      { path: 'package-lock.json', before: '{}', after: '{"packages":{"node_modules/left-pad":{}}}' },
    ];
    expect(findNewDependencies(changes).added).toEqual([
      { ecosystem: 'npm', name: 'left-pad', paths: ['package.json', 'package-lock.json'] },
    ]);
  });

  it('reports files that it cannot read', () => {
    const changes = [
      { path: 'package.json', before: '{}', after: '{"dependencies":' },
      { path: 'bun.lockb', before: undefined, after: '\u0000' },
    ];
    expect(findNewDependencies(changes).unreadable.map(({ path }) => path)).toEqual(['package.json', 'bun.lockb']);
  });

  it('reads no other files', () => {
    const changes = [
      { path: 'src/index.js', before: undefined, after: 'import "left-pad"' },
      { path: 'node_modules/x/package.json', before: undefined, after: '{"dependencies":{"left-pad":"1"}}' },
    ];
    expect(findNewDependencies(changes)).toEqual({ added: [], unreadable: [] });
  });
});
