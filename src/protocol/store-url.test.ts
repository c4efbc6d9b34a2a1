import { describe, expect, it } from 'vitest';
import { checkStoreUrl, renderStoreUrl } from './store-url.ts';

describe('the URL of a store', () => {
  it.each([
    ['postgres://baton@db.example:5432/fleet', 'db.example', 'fleet', false],
    ['postgresql://db/fleet?sslmode=verify-full', 'db', 'fleet', false],
    ['postgres://baton@%2Frun%2Fpostgresql/fleet', '/run/postgresql', 'fleet', false],
    ['postgres://baton@db:6432/fleet?pooler=session', 'db', 'fleet', true],
  ])('accepts %s', (url, host, database, hasSessionPooler) => {
    expect(checkStoreUrl(url)).toEqual({ ok: true, value: { url, host, database, hasSessionPooler } });
  });

  it.each([
    ['postgres://baton:geheim@db/fleet', 'store/password-in-url'],
    ['postgres://baton@db/fleet?password=geheim', 'store/password-in-url'],
    ['postgres://db', 'store/bad-url'],
    ['postgres://baton:geheim@db:port/fleet', 'store/bad-url'],
    ['postgres://db/fleet?pooler=transaction', 'store/bad-url'],
    ['mysql://db/fleet', 'store/bad-url'],
    ['ledger.db', 'store/bad-url'],
    ['postgres://%!', 'store/bad-url'],
    ['postgres://db/%E0%A4%A', 'store/bad-url'],
  ])('refuses %s and does not repeat it', (url, code) => {
    const checked = checkStoreUrl(url);
    expect(checked).toMatchObject({ ok: false, problems: [{ code }] });
    expect(JSON.stringify(checked)).not.toContain('geheim');
  });
});

it.each([
  ['postgres://baton@db.example:5432/work?sslmode=require', 'postgres://db.example:5432/work'],
  ['postgres://baton:secret@localhost/work', 'postgres://localhost/work'],
  ['postgres:///work?host=/run/postgresql', 'postgres:///run/postgresql/work'],
  ['postgres://host:port/work', 'postgres://…'],
])('shows %s as %s', (url, shown) => expect(renderStoreUrl(url)).toBe(shown));
