import { dependantsOf } from '../../../state/dependants.ts';
import type { State } from '../../../state/state.ts';
import { chainsOf, chainThrough, criticalTasks } from './critical-path.ts';
import { type GraphNode, type Neighbourhood, neighbourhoodOf, toNode } from './neighbourhood.ts';

/** A task's dependencies and dependants. */
export interface TaskLinks {
  readonly waitsFor: LinkedTasks;
  readonly waitedFor: LinkedTasks;
  readonly chain: TaskChain;
  readonly graph: Neighbourhood;
}

/** Linked tasks. Thousands may wait for one task, so the rest is only counted. */
export interface LinkedTasks {
  readonly tasks: readonly GraphNode[];
  readonly more: number;
}

/** The longest chain of unfinished tasks through a task, first task first; empty if it is finished. */
export interface TaskChain {
  /** The tasks of the chain near this one. */
  readonly tasks: readonly GraphNode[];
  /** The index of the first of them in the chain, from 0. */
  readonly from: number;
  readonly length: number;
  /** Length of the longest chain in the project. */
  readonly longest: number;
}

const MOST_LINKED = 12;
const CHAIN_AROUND = 6;

/** Returns null if the state has no such task. */
export function linksOf(state: State, { id }: { readonly id: string }): TaskLinks | null {
  const task = state.tasks.get(id);
  if (task === undefined) return null;
  return {
    waitsFor: link(state, task.after),
    waitedFor: link(state, [...dependantsOf(state, id)]),
    chain: chainOf(state, id),
    graph: neighbourhoodOf(state, id),
  };
}

function link(state: State, ids: readonly string[]): LinkedTasks {
  const known = [...new Set(ids)];
  return { tasks: toNodes(state, known.slice(0, MOST_LINKED)), more: Math.max(0, known.length - MOST_LINKED) };
}

function chainOf(state: State, id: string): TaskChain {
  const path = chainThrough(state, chainsOf(state), id);
  const at = path.indexOf(id);
  const from = Math.max(0, at - CHAIN_AROUND);
  const tasks = toNodes(state, path.slice(from, at + CHAIN_AROUND + 1));
  return { tasks, from, length: path.length, longest: criticalTasks(state).size };
}

function toNodes({ tasks }: State, ids: readonly string[]): readonly GraphNode[] {
  return ids.flatMap((id) => tasks.get(id) ?? []).map(toNode);
}
