/** Whether this is `npm run faults`, which may take long. */
export const isLongRun = process.env['BATON_FAULTS'] === 'long';
