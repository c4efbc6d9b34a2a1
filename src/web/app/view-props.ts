import type { StatusView } from '../../api/run-views.ts';
import type { Loaded } from '../hub/messages.ts';
import type { Route } from './router.ts';

/** What every view gets. */
export interface ViewProps {
  readonly route: Route;
  readonly status: Loaded<StatusView>;
}
