import type { State } from '../../state/state.ts';

/** A person who types into a filter asks for many lists, and looks at one. */
const MOST = 8;

/**
 * Several windows of one list, and several tabs, ask for the same after each entry: it is computed once. The state changes in place, and `seq`
 * tells that it has.
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
