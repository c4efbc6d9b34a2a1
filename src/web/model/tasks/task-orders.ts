/** In this file, so that the page need not load the code of the state for its list of orders. */
export const TASK_ORDERS = ['status', 'urgent', 'oldest', 'newest'] as const;
export type TaskOrder = (typeof TASK_ORDERS)[number];
