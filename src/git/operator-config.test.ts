import { describe, expect, it } from 'vitest';
import { operatorIdentity } from './config.ts';

const USER = [
  ['user.name', 'Ada'],
  ['user.email', 'ada@example.org'],
] as const;

describe("the author of Baton's commits", () => {
  it('is the operator, as author and as committer', () => {
    const ada = { name: 'Ada', email: 'ada@example.org' };
    expect([operatorIdentity('author', new Map(USER), {}), operatorIdentity('committer', new Map(USER), {})]).toEqual([
      ada,
      ada,
    ]);
  });

  it('may differ for author or committer, by configuration or environment', () => {
    const config = new Map([...USER, ['author.name', 'Grace'], ['author.email', 'grace@example.org']] as const);
    expect(operatorIdentity('author', config, {}).name).toBe('Grace');
    expect(operatorIdentity('committer', config, {}).name).toBe('Ada');
    const env = { GIT_AUTHOR_NAME: 'Joan', GIT_AUTHOR_EMAIL: 'joan@example.org' };
    expect(operatorIdentity('author', config, env)).toEqual({ name: 'Joan', email: 'joan@example.org' });
    expect(operatorIdentity('committer', config, env).name).toBe('Ada');
  });

  it('is Baton if git has no operator, or only a part of one', () => {
    const baton = { name: 'Baton', email: 'baton@localhost' };
    expect(operatorIdentity('author', new Map(), {})).toEqual(baton);
    expect(operatorIdentity('author', new Map([['user.name', 'Ada']]), {})).toEqual(baton);
    expect(operatorIdentity('committer', new Map([...USER, ['committer.name', '']]), {})).toEqual(baton);
  });
});
