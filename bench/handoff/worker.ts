import { setTimeout as delay } from 'node:timers/promises';
import { CONTENDERS, ON_POSTGRES } from './contenders.ts';
import type { Leave, Race, Seat } from './contender.ts';

/** Messages from the measuring process to a worker, one at a time; each is answered. */
export type Order =
  | {
      readonly kind: 'sit';
      readonly contender: string;
      readonly address: string;
      readonly mine: 'a' | 'b';
      readonly race: Race;
    }
  | { readonly kind: 'fill' | 'join' | 'count' | 'stop' | 'leave' };

export type Report =
  | { readonly ok: true; readonly count: number; readonly times?: Times }
  | { readonly ok: false; readonly error: string };

export interface Times {
  readonly taken: readonly Moment[];
  readonly given: readonly Moment[];
}

export interface Moment {
  readonly round: number;
  /** Milliseconds on a clock that all processes of a machine share. */
  readonly ms: number;
}

const taken: Moment[] = [];
const given: Moment[] = [];
let isOver = false;
let contender: (typeof CONTENDERS)[number] | undefined;
let seat: Seat | undefined;
let leave: Leave | undefined;

process.on('message', (order: Order) => {
  obey(order).then(report, (error: unknown) =>
    report({ ok: false, error: String(error instanceof Error ? error.stack : error) }),
  );
});
// The parent process has exited.
process.on('disconnect', () => process.exit(1));

async function obey(order: Order): Promise<Report> {
  if (order.kind === 'sit') {
    const { address, mine, race } = order;
    contender = [...CONTENDERS, ...ON_POSTGRES].find(({ key }) => key === order.contender);
    seat = {
      ...race,
      address,
      mine,
      theirs: mine === 'a' ? 'b' : 'a',
      work: async (round) => work(round, race),
      handOn,
    };
  }
  if (contender === undefined || seat === undefined) throw new Error('take a seat first');
  if (order.kind === 'fill') await contender.fill(seat);
  if (order.kind === 'join') leave = await contender.join(seat);
  if (order.kind === 'stop') isOver = true;
  if (order.kind === 'leave') await leave?.();
  return { ok: true, count: taken.length, ...(order.kind === 'stop' ? { times: { taken, given } } : {}) };
}

function report(message: Report): void {
  process.send?.(message);
}

async function work(round: number, { workMs }: Race): Promise<void> {
  taken.push({ round, ms: nowMs() });
  if (workMs > 0) await delay(workMs);
}

function handOn(round: number): boolean {
  if (isOver) return false;
  given.push({ round, ms: nowMs() });
  return true;
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
