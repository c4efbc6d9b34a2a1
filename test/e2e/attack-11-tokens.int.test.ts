import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { secretForms, secretPartOf } from '../../src/protocol/redact-tokens.ts';

const scene = new RunScene();
afterAll(async () => scene.end());

/**
 * Prints everything that an agent has or can read without a sandbox, in several spellings, on both streams and in its
 * own message.
 */
const LEAK = `
operator=$(cat "$BATON_STATE_DIR/operator.token")
echo "my token is $BATON_TOKEN."
printf '{"env":{"BATON_TOKEN":"%s"}}\\n' "$BATON_TOKEN" >&2
echo "curl -H 'Authorization: Bearer $operator' $BATON_URL"
echo "http://x/?token=$(echo "$BATON_TOKEN" | sed 's/[.]/%2E/g')"
printf '%s' "$BATON_TOKEN" | head -c 60; sleep 0.1; printf '%s\\n' "$BATON_TOKEN" | tail -c +61
printf '%s' "$operator" | base64 -w 0
echo
printf '{"kind":"complete","message":"used %s and %s, see %s"}' "$BATON_TOKEN" "$operator" "$(printf %s "$operator" | base64 -w 0)" | baton emit agent:signal -
printf 'x%s' "$BATON_TOKEN" | base64 -w 0
echo
echo "$BATON_TOKEN" | cut -c 3- > "$BATON_STATE_DIR/../seen"
`;

function secretsSeen(): string[] {
  const operator = readFileSync(join(scene.stateDir, 'operator.token'), 'utf8').trim();
  const own = readFileSync(join(scene.stateDir, '../seen'), 'utf8').trim();
  return [operator, own].map(secretPartOf);
}

async function logsOf(agentId: string): Promise<string> {
  let out = '';
  await main(['agent', 'logs', agentId], {
    env: { ...scene.scene.env, BATON_STATE_DIR: scene.stateDir },
    cwd: scene.repository,
    isTerminal: false,
    out: (text) => void (out += text),
    err: (text) => void (out += text),
    readInput: async () => new Uint8Array(0),
  });
  return out;
}

/** Files that contain tokens because programs read them there. */
const HOLDERS = /(?:\.token|session\.secret|launch-\d+\.json|\.writer)$/;

it(
  'an agent that prints its token and the operator’s leaves neither in the record nor in a log',
  { timeout: 60_000 },
  async () => {
    scene.write(
      `[agents]\nleaks = { run = "sh leak.sh", sandbox = "none" }\n[pipelines]\nleaks = { steps = [{ name = "work", run = { agent = "leaks" } }] }\n`,
    );
    writeFileSync(join(scene.repository, 'leak.sh'), LEAK);
    await scene.start();
    const run = await scene.run('leaks');
    await scene.pipeline(run, 30_000);
    const id = await scene.agentIn(run, 'work');
    await scene.agent(id, 30_000);
    const shown = await logsOf(id);
    const entries = JSON.stringify(await scene.entries());
    await scene.stop();
    const secrets = secretsSeen();
    expect(secrets.map(({ length }) => length)).toEqual([43, 43]);
    expect(shown).toContain('my token is [redacted:baton-token].');
    expect(entries).toMatch(/used \[redacted:baton-token\] and (?:o\.)?\[redacted:/);
    for (const secret of secrets) {
      expect(shown).not.toContain(secret);
      expect(entries).not.toContain(secret);
    }
    const files = globSync(join(scene.stateDir, '**')).filter((path) => statSync(path).isFile() && !HOLDERS.test(path));
    const leaks = files.filter((path) => secrets.some((secret) => readFileSync(path).includes(secret)));
    expect(leaks).toEqual([]);
    const [operator = '', own = ''] = secrets;
    for (const form of secretForms(operator)) expect(entries).not.toContain(form);
    for (const form of secretForms(own)) expect(shown).not.toContain(form);
  },
);
