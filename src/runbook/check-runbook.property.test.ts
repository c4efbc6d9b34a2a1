import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { arbitraryOf } from '../../test/fuzz/arbitrary-of.ts';
import { schemaAccepts } from '../../test/fuzz/schema-accepts.ts';
import { checkShape } from '../protocol/shape/check-shape.ts';
import { treeOfValue } from '../protocol/text/node.ts';
import { validRunbook } from './arbitrary.cases.ts';
import { checkRunbook } from './check/check-runbook.ts';
import { planRun, workerPlans } from './plan.ts';
import { checkTree, WRITTEN } from './render.cases.ts';
import { runbookSchema, runbookShape } from './shape/runbook-shape.ts';

const [TOML, YAML, JSON_] = WRITTEN;

/** The part of a verdict that does not depend on places. */
function verdictOf(tree: object, syntax: (typeof WRITTEN)[number]): unknown {
  const checked = checkTree(tree, syntax);
  if (checked.ok) return checked.value;
  return checked.problems
    .map(({ code, message, path, hint }) => JSON.stringify({ code, message: withoutPlaces(message), path, hint }))
    .toSorted();
}

/** The place of another definition in a message depends on the file's syntax. */
function withoutPlaces(message: string): string {
  return message.replaceAll(/(?:runbook|baton)\.(?:toml|yaml|json)(?::\d+){0,2}/g, 'the runbook');
}

const anyRunbook = arbitraryOf(runbookShape);
/** TOML has no null, but free content may contain it. */
const writableRunbook = arbitraryOf(runbookShape, {
  roles: fc.constantFrom({}, { add: [{ name: 'prep', agent: 'x' }] }, { without: [{ from: 'a', to: 'b' }] }),
});

describe('one tree in three syntaxes', () => {
  it('is the same runbook if it is valid', () => {
    fc.assert(
      fc.property(validRunbook, (tree) => {
        const checked = checkTree(tree, TOML);
        expect(checked.ok ? [] : checked.problems).toEqual([]);
        expect(verdictOf(tree, YAML)).toEqual(verdictOf(tree, TOML));
        expect(verdictOf(tree, JSON_)).toEqual(verdictOf(tree, TOML));
      }),
      { numRuns: samples(60) },
    );
  });

  it('has the same problems if it is invalid', () => {
    fc.assert(
      fc.property(writableRunbook, (tree) => {
        expect(verdictOf(tree, YAML)).toEqual(verdictOf(tree, JSON_));
        expect(verdictOf(tree, TOML)).toEqual(verdictOf(tree, JSON_));
      }),
      { numRuns: samples(60) },
    );
  });

  it('is the same runbook in one file and spread over many', () => {
    fc.assert(
      fc.property(validRunbook, (tree) => {
        const parts = Object.entries(tree).map(([name, section]) => ({ [name]: section }));
        const files = parts.map((part, i) => {
          const { syntax, render } = WRITTEN[i % 3] ?? TOML;
          return { path: `${i}.${syntax.toLowerCase()}`, text: render(part) };
        });
        expect(checkRunbook(files)).toEqual(checkTree(tree, TOML));
      }),
      { numRuns: samples(30) },
    );
  });

  it('can be planned', () => {
    fc.assert(
      fc.property(validRunbook, (tree) => {
        const checked = checkTree(tree, JSON_);
        if (!checked.ok) return;
        expect(planRun(checked.value, 'outer', ['--title', 'x']).ok).toBe(true);
        expect(workerPlans(checked.value).length).toBe(checked.value.workers.size);
      }),
      { numRuns: samples(30) },
    );
  });
});

describe('the JSON Schema and the checker', () => {
  const isOfShape = (tree: object): boolean => {
    const read = treeOfValue(tree);
    return read.ok && checkShape(runbookShape, read.node, 'Runbook').findings.length === 0;
  };

  it('accept the same trees', () => {
    fc.assert(
      fc.property(fc.oneof(anyRunbook, validRunbook), (tree) => {
        expect(isOfShape(tree)).toBe(true);
        expect(schemaAccepts(runbookSchema, tree)).toBe(true);
      }),
      { numRuns: samples(60) },
    );
  });

  it('refuse the same trees', () => {
    const odd = fc.constantFrom<unknown>(
      'odd',
      '',
      'nudge',
      7,
      -1,
      1.5,
      true,
      false,
      [],
      [1],
      {},
      { action: 'x' },
      { agent: 1 },
      { required: false },
    );
    let refusals = 0;
    fc.assert(
      fc.property(validRunbook, fc.nat(), odd, (tree, where, value) => {
        const changed = withOne(tree, where, value);
        const accepts = isOfShape(changed);
        if (!accepts) refusals += 1;
        expect({ changed, accepts: schemaAccepts(runbookSchema, changed) }).toEqual({ changed, accepts });
      }),
      { numRuns: samples(300) },
    );
    expect(refusals).toBeGreaterThan(samples(300) / 10);
  });
});

/** The tree with one value replaced or one field added. */
function withOne(tree: object, where: number, value: unknown): object {
  const copy: object = structuredClone(tree);
  const spots: { holder: object; key: string }[] = [];
  const visit = (holder: object): void => {
    for (const [key, inner] of Object.entries(holder)) {
      spots.push({ holder, key });
      if (typeof inner === 'object' && inner !== null) visit(inner);
    }
    if (!Array.isArray(holder)) spots.push({ holder, key: 'surplus' });
  };
  visit(copy);
  const spot = spots[where % spots.length];
  if (spot !== undefined) Object.assign(spot.holder, { [spot.key]: value });
  return copy;
}
