/** Format of amounts. Given decimal text, it keeps every digit, because the text is never turned into a float. */
const DECIMALS = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const COLUMN = new Intl.NumberFormat('en', { minimumFractionDigits: 6, maximumFractionDigits: 6 });
const COUNT = new Intl.NumberFormat('en');

/** Credits with thousands separators and two to six decimals. Takes the API's numbers and its decimal strings. */
export function credits(amount: number | string): string {
  return DECIMALS.format(String(amount) as `${number}`).replace('-', '−');
}

/** Credits with thousands separators and all six decimals, for columns. */
export function creditsInColumn(amount: number | string): string {
  return COLUMN.format(String(amount) as `${number}`).replace('-', '−');
}

/** Credits with six decimals and their sign, for changes of a balance; zero has no sign. */
export function signedCredits(amount: string): string {
  const size = creditsInColumn(amount.replace('-', ''));
  if (isGain(amount)) return `+${size}`;
  return isNothing(amount) ? size : `−${size}`;
}

/** True where a change of a balance, as the API writes it, adds to it. */
export function isGain(amount: string): boolean {
  return !amount.startsWith('-') && !isNothing(amount);
}

function isNothing(amount: string): boolean {
  return !/[1-9]/.test(amount);
}

export function callsInWords(calls: number): string {
  return `${count(calls)} ${calls === 1 ? 'call' : 'calls'}`;
}

export function count(amount: number): string {
  return COUNT.format(amount);
}
