import { expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import { ProjectTelemetry } from './project-telemetry.ts';
import { readSettings } from '../settings.ts';

function follow(): { readonly telemetry: ProjectTelemetry; readonly reported: string[] } {
  const reported: string[] = [];
  const telemetry = new ProjectTelemetry('demo', {
    measure: ({ instrument }) => void reported.push(instrument),
    trace: ({ root }) => void reported.push(root.name),
    onError: (error) => void reported.push(String(error)),
  });
  return { telemetry, reported };
}

it('reports on each host what that host recorded, so that a fleet reports everything once', () => {
  const play = new Play().order(say.create()).say(say.claim()).wait(1000);
  const half = play.entries.length;
  play.say(say.complete(), say.session());
  const [one, other] = [follow(), follow()];
  one.telemetry.add(play.entries.slice(0, half), true);
  other.telemetry.add(play.entries.slice(0, half), false);
  one.telemetry.add(play.entries.slice(half), false);
  other.telemetry.add(play.entries.slice(half), true);
  expect(one.reported).toEqual(['baton.claims']);
  expect(other.reported).toEqual(['baton.claims.ended', 'task']);
});

it('continues if a reporter throws', () => {
  const errors: unknown[] = [];
  const fail = (): never => {
    throw new Error('full');
  };
  const telemetry = new ProjectTelemetry('demo', { measure: fail, trace: fail, onError: (e) => void errors.push(e) });
  const play = new Play().order(runs.startPipeline(runs.pipelinePlan([runs.shellStep('only')])));
  play.say(runs.finish(play.the('CommandRequested').command_id));
  telemetry.add(play.entries, true);
  expect(errors).toHaveLength(2);
});

it('is off unless an absolute path is set', () => {
  expect(readSettings({})).toMatchObject({ ok: true, settings: { telemetry: undefined } });
  expect(readSettings({ BATON_TELEMETRY: '' })).toMatchObject({ ok: true, settings: { telemetry: undefined } });
  expect(readSettings({ BATON_TELEMETRY: '/x/otel.mjs' })).toMatchObject({ settings: { telemetry: '/x/otel.mjs' } });
  expect(readSettings({ BATON_TELEMETRY: 'otel.mjs' })).toMatchObject({ ok: false, error: { code: 'bad-setting' } });
});
