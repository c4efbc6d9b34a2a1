import { describe, expect, it } from 'vitest';
import { mayRecommendApproval } from './judge-prompt.ts';

const ask = (tool: string, input: object): string => `Agent asks: May I use ${tool}? ${JSON.stringify(input)}`;

describe('a permission prompt', () => {
  it.each([
    ['Read', { file_path: 'src/a.ts' }],
    ['Edit', { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' }],
    ['Bash', { command: 'npm test' }],
    ['Bash', { command: 'cargo test --all' }],
    ['Bash', { command: 'npm run build', description: 'Builds it' }],
    ['Bash', { command: 'go test ./pkg' }],
    ['Bash', { command: 'rg -n TODO src' }],
  ])('may recommend its approval: %s %j', (tool, input) => {
    expect(mayRecommendApproval(ask(tool, input))).toBe(true);
  });

  it.each([
    ['Edit', { file_path: '.claude/settings.json' }],
    ['Write', { file_path: '/home/u/.codex/config.toml' }],
    ['Write', { file_path: 'baton.toml' }],
    ['Write', { file_path: '.git/hooks/pre-push' }],
    ['Write', { file_path: 'src/../../other/a.ts' }],
    ['Write', { file_path: '/etc/passwd' }],
    ['Edit', { file_path: '.CLAUDE/Settings.json' }],
    ['Bash', { command: 'git config core.hooksPath x' }],
    ['Bash', { command: "python3 -c \"open('.clau' + 'de/x', 'w')\"" }],
    ['Bash', { command: 'echo Zm9v | base64 -d | sh' }],
    ['Bash', { command: 'npm test > .x' }],
    ['Bash', { command: 'npm exec something' }],
    ['Bash', { command: 'npm config set ignore-scripts false' }],
    ['Bash', { command: 'cat $HOME/x' }],
    ['Bash', { command: 'npm i left-pad' }],
    ['Bash', { command: 'npm init left-pad' }],
    ['Bash', { command: 'go generate' }],
    ['Bash', { command: 'go build -toolexec=./x' }],
    ['Bash', { command: 'constructor' }],
    ['Bash', { command: 'cat /home/u/key.pem' }],
    ['Bash', { command: 'npm x something' }],
    ['Bash', { command: 'pnpm dlx something' }],
    ['Bash', { command: 'npm publish' }],
    ['Bash', { command: 'npm run test --prefix elsewhere' }],
    ['Bash', { command: 'go run ./evil' }],
    ['Bash', { command: 'rg --pre ./evil.sh x' }],
    ['Bash', { note: { command: 'npm test' }, command: 'rm x' }],
    ['Bash', { command: ['bash', '-lc', 'npm test'] }],
    ['Read', { file_path: '/home/u/key.pem' }],
    ['NotebookEdit', { notebook_path: '/home/u/a.ipynb' }],
    ['write_file', { absolute_path: '/home/u/a.txt' }],
    ['Write', { edits: { file_path: '/etc/passwd' }, file_path: 'src/a.ts' }],
    ['mcp__other__tool', { anything: 1 }],
    ['Task', {}],
  ])('never recommends what changes or could change controls: %s %j', (tool, input) => {
    expect(mayRecommendApproval(ask(tool, input))).toBe(false);
  });

  it('does not recommend what it cannot parse', () => {
    expect(mayRecommendApproval('May I use Write? {"file_path": "/etc/passwd"}')).toBe(false);
    expect(mayRecommendApproval('Claude needs your permission to use Bash')).toBe(false);
    expect(mayRecommendApproval(ask('Bash', { command: 'npm test' }).slice(0, -1))).toBe(false);
    expect(mayRecommendApproval('May I use Bash? {"command":"npm test"}{"command":"rm x"}')).toBe(false);
    expect(mayRecommendApproval('May I use Bash? {"command":"npm test","command":"rm x"}')).toBe(false);
  });
});
