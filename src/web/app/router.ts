import { computed, effect, signal } from '@preact/signals';
import { parseRoute, renderRoute, type Route, type ViewName } from './route.ts';

export type { Route, ViewName } from './route.ts';

export const route = signal<Route>(parseRoute(location.hash));
export const project = computed(() => route.value.project);

/** The path in the address that `baton web` opened, until the project's id is known. */
export const wantedPath = signal<string | undefined>(undefined);

addEventListener('hashchange', () => {
  if (!isOpening(location.hash)) route.value = parseRoute(location.hash);
});

/** The address of a view or detail in this project. */
export function hrefTo(to: Partial<Route> & { readonly view: ViewName }): string {
  const own = route.value.project;
  return renderRoute({ ...(own === undefined ? {} : { project: own }), query: {}, ...to });
}

export function go(to: Partial<Route> & { readonly view: ViewName }): void {
  location.hash = hrefTo(to);
}

/** Changes the query of the address without a new entry in the browser's history. */
export function setQuery(query: Readonly<Record<string, string>>): void {
  const next = { ...route.peek(), query };
  history.replaceState(null, '', renderRoute(next));
  route.value = next;
}

function isOpening(hash: string): boolean {
  return /^#(?:code|daemon|project)=/.test(hash);
}

/** Removes the one-time code from the address, so that nobody can see or copy it, and returns it. */
export function takeCode(): { readonly code?: string; readonly daemonKey?: string } {
  if (!isOpening(location.hash)) return {};
  const given = new URLSearchParams(location.hash.slice(1));
  const [code, daemonKey, path] = [given.get('code'), given.get('daemon'), given.get('project')];
  history.replaceState(null, '', '#/');
  route.value = parseRoute('#/');
  wantedPath.value = path ?? undefined;
  return { ...(code === null ? {} : { code }), ...(daemonKey === null ? {} : { daemonKey }) };
}

/** Stores the project for the next visit. */
effect(() => {
  const id = project.value;
  if (id !== undefined) localStorage.setItem('project', id);
});
