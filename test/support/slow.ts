/** Whether what takes long is done, too: with SWITCHYARD_SLOW=1, as npm run test:operations has it. */
export const isSlow = process.env['SWITCHYARD_SLOW'] === '1';
