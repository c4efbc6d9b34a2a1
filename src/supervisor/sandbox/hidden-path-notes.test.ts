import { beforeEach, describe, expect, it } from 'vitest';
import { HiddenPathNotes } from './hidden-path-notes.ts';

const printed: string[] = [];
let notes: HiddenPathNotes;

beforeEach(() => {
  printed.length = 0;
  const hidden = [
    { path: '/home/ada/.ssh', shown: '~/.ssh' },
    { path: '/home/ada/.netrc', shown: '~/.netrc' },
    { path: '/mnt', shown: '/mnt' },
    { path: '/home/ada/app', shown: '.' },
  ];
  notes = new HiddenPathNotes(hidden, ['/home/ada/app/.worktrees/t1'], (line) => printed.push(line));
});

describe('a hidden path', () => {
  it('is named once, with the line that allows it', () => {
    notes.push(Buffer.from('Could not open /home/ada/.ssh/id_ed25519: No such file or directory\n'));
    notes.push(Buffer.from('cat: /home/ada/.ssh/config: No such file or directory\n'));
    expect(printed).toEqual(['baton: ~/.ssh is hidden in the sandbox. To allow it: sandbox.read = ["~/.ssh"]']);
  });

  it('is found across two pieces of output', () => {
    notes.push(Buffer.from('cat: /home/ada/.ne'));
    notes.push(Buffer.from('trc: No such file or directory\n'));
    expect(printed).toHaveLength(1);
  });

  it('is found beside a visible path below it', () => {
    notes.push(Buffer.from('/home/ada/app/.worktrees/t1/a.sh: cannot open /home/ada/app/secrets.env: not found\n'));
    expect(printed).toEqual(['baton: . is hidden in the sandbox. To allow it: sandbox.read = ["."]']);
  });

  it('is not reported for a visible path below it, also if a piece cuts the path off', () => {
    const trace = [
      "Error: Cannot find module './missing.js'\n    at /home/ada/app",
      '/.worktrees/t1/src/main.js:3:5\n',
    ];
    for (const piece of trace) notes.push(Buffer.from(piece));
    expect(printed).toEqual([]);
  });

  it.each([
    'the docs mention /home/ada/.ssh',
    'cat: /home/ada/.sshd: No such file or directory',
    "nsenter: reassociate to namespace 'ns/mnt' failed: permission denied",
    './test.sh: not found',
  ])('is not reported for: %s', (text) => {
    notes.push(Buffer.from(`${text}\n`));
    expect(printed).toEqual([]);
  });
});

describe('a read-only path', () => {
  it('is named if a change of it fails, also by its relative name', () => {
    const hidden = [{ isReadOnly: true, path: '/home/ada/app/baton.toml', shown: 'baton.toml' }] as const;
    notes = new HiddenPathNotes(hidden, [], (line) => printed.push(line));
    notes.push(Buffer.from('I read baton.toml\n'));
    expect(printed).toEqual([]);
    notes.push(Buffer.from('sh: 1: cannot create baton.toml: Read-only file system\n'));
    expect(printed).toEqual([
      'baton: baton.toml is read-only in the sandbox: it decides what starts here, so only a person changes it',
    ]);
  });
});
