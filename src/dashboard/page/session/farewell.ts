/** Why the last session ended, for the sign-in page; "" if the user ended it. */
export const farewell = { reason: '' };
