/** Bounds of a password, in characters. */
export const PASSWORD = { least: 10, most: 200 } as const;

/** Whether a password has a right length; looked at before anything is computed. */
export function hasRightLength(password: string): boolean {
  // Characters outside the BMP count once, but have two UTF-16 units.
  if (password.length > 2 * PASSWORD.most) return false;
  const length = Array.from(password).length;
  return length >= PASSWORD.least && length <= PASSWORD.most;
}
