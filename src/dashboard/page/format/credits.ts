/** Format of amounts. Given decimal text, it keeps every digit, because the text is never turned into a float. */
const DECIMALS = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const COUNT = new Intl.NumberFormat('en');

/** Credits with thousands separators and two to six decimals. Takes the API's numbers and its decimal strings. */
export function credits(amount: number | string): string {
  return DECIMALS.format(String(amount) as `${number}`).replace('-', '−');
}

/** True if a change of a balance, as the API writes it, adds to it. */
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
