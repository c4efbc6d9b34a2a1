import type { StatusView } from '../../api/run-views.ts';
import type { Loaded } from '../hub/messages.ts';
import type { Route } from './router.ts';

/** The properties of every view. */
export interface ViewProps {
  readonly route: Route;
  readonly status: Loaded<StatusView>;
}
