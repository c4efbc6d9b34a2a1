import { expect, it } from 'vitest';
import type { Mount } from '../../protocol/sandbox.ts';
import { outsidePath } from './outside-path.ts';

const MOUNTS: readonly Mount[] = [
  { kind: 'read', at: '/usr', from: '/usr' },
  { kind: 'link', at: '/home/ada', to: '/data/ada' },
  { kind: 'write', at: '/data/ada', from: '/state/agents/1/home' },
  { kind: 'write', at: '/data/ada/.codex', from: '/state/agents/1/client-0' },
  { kind: 'scratch', at: '/run' },
];

it.each([
  ['/usr/bin/git', '/usr/bin/git'],
  ['/data/ada/.codex/sessions/x.jsonl', '/state/agents/1/client-0/sessions/x.jsonl'],
  ['/home/ada/.codex', '/state/agents/1/client-0'],
  ['/data/ada/notes', '/state/agents/1/home/notes'],
  ['/run/lock', undefined],
  ['/root/.ssh', undefined],
])('%s', (path, outside) => {
  expect(outsidePath(path, MOUNTS)).toBe(outside);
});
