import type { State } from '../../state/state.ts';

/** Typing into a filter requests many lists, of which only one is viewed. */
const MOST = 8;

/**
 * Caches a view: several windows of one list, and several tabs, request the same after each entry. The state changes in
 * place, and `seq` shows that it has changed.
 */
export function rememberForState<T>(compute: (state: State, name: string) => T): (state: State, name?: string) => T {
  const known = new WeakMap<State, { readonly seq: number; readonly values: Map<string, T> }>();
  return (state, name = '') => {
    const found = known.get(state);
    const kept = found?.seq === state.seq ? found : { seq: state.seq, values: new Map<string, T>() };
    if (kept !== found) known.set(state, kept);
    const value = kept.values.get(name) ?? compute(state, name);
    if (!kept.values.has(name) && kept.values.size === MOST) kept.values.clear();
    kept.values.set(name, value);
    return value;
  };
}
