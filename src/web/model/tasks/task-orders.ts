/** In a separate file, so that the page does not load the state's code for its list of orders. */
export const TASK_ORDERS = ['status', 'urgent', 'oldest', 'newest'] as const;
export type TaskOrder = (typeof TASK_ORDERS)[number];
