/** Whether this is `npm run faults`, which takes its time. */
export const isLongRun = process.env['BATON_FAULTS'] === 'long';
