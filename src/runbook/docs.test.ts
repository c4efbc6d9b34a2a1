import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TASK_FIELDS } from '../protocol/text/template.ts';
import { DEFAULT_LIMITS } from './shape/limits-shape.ts';
import { OPTIONS_OF } from './check/agents.ts';
import { agentShape } from './shape/agent-shape.ts';
import { limitsShape } from './shape/limits-shape.ts';
import { runbookShape } from './shape/runbook-shape.ts';
import { pipelineShape } from './shape/section-shapes.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/runbooks.md'), 'utf8');
const cells = new Set(
  [...page.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', ').map((name) => name.replaceAll('`', '')),
  ),
);

describe('docs/runbooks.md', () => {
  const { fields } = runbookShape;
  const sections = [
    ...[agentShape, pipelineShape, pipelineShape.fields.steps.of, fields.commands.of, fields.workers.of].flatMap(
      (shape) => Object.keys(shape.fields),
    ),
    ...(['ci', 'merge', 'github', 'roles', 'workflow', 'notify', 'workspace', 'limits'] as const).flatMap((name) =>
      Object.keys(fields[name].fields).map((field) => `${name}.${field}`),
    ),
    ...Object.keys(OPTIONS_OF),
    ...Object.values(OPTIONS_OF).flat(),
    ...Object.keys(fields.sandbox.options[1].fields).map((field) => `sandbox.${field}`),
    ...Object.keys(fields.network.options[2].fields).map((field) => `network.${field}`),
    'secrets.NAME',
    'exit_protocol',
    'project',
    'store',
    '$schema',
  ];

  it.each([...new Set(sections)])('describes %s', (field) => {
    expect(cells).toContain(field);
  });

  it('has every section', () => {
    for (const name of Object.keys(fields)) expect(page).toContain(`\`${name}`);
  });

  it('has every field of a task', () => {
    const row = /^\| `\$\{task\.FIELD\}` \|.*$/m.exec(page)?.[0] ?? '';
    expect([...row.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)).toEqual([...TASK_FIELDS]);
  });

  it('has the options of each action', () => {
    for (const [action, options] of Object.entries(OPTIONS_OF)) {
      const row =
        page
          .split('\n')
          .find(
            (line) =>
              line.startsWith('| ') && line.split('|')[1]?.includes(`\`${action}\``) && line.split('|').length === 5,
          ) ?? '';
      for (const option of options)
        expect({ action, row }).toEqual({ action, row: expect.stringContaining(`\`${option}\``) });
    }
  });

  it('lists the default limits, and so does the schema', () => {
    const shown: Record<string, string> = { claim_expiry: '15m', renewal: '30s', leave: '60s', kill_after: '10s' };
    const { claimExpiryMs, renewalMs, leaveMs, killAfterMs, agents, blocks, resumes, reviewRounds, logBytes } =
      DEFAULT_LIMITS;
    expect([claimExpiryMs, renewalMs, leaveMs, killAfterMs]).toEqual([900_000, 30_000, 60_000, 10_000]);
    const all = {
      ...shown,
      agents: String(agents),
      blocks: String(blocks),
      resumes: String(resumes),
      review_rounds: String(reviewRounds),
      log_bytes: String(logBytes),
    };
    for (const [name, value] of Object.entries(all)) {
      expect(page).toMatch(new RegExp(`^\\| \`limits\\.${name}\` \\|.*; default: ${value} \\|$`, 'm'));
      expect(JSON.stringify(limitsShape.fields)).toContain(`; default: ${value}.`);
    }
  });
});
