/** Given decimal text it formats every digit of it: no float comes between. */
const DECIMALS = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const COLUMN = new Intl.NumberFormat('en', { minimumFractionDigits: 6, maximumFractionDigits: 6 });
const COUNT = new Intl.NumberFormat('en');

/** Credits for people: thousands apart, two to six decimals. Takes the API's numbers and its decimal strings. */
export function credits(amount: number | string): string {
  return DECIMALS.format(String(amount) as `${number}`).replace('-', '−');
}

/** The same with all six decimals, for columns. */
export function creditsInColumn(amount: number | string): string {
  return COLUMN.format(String(amount) as `${number}`).replace('-', '−');
}

/** The same with its sign, for changes of a balance. */
export function signedCredits(amount: string): string {
  return amount.startsWith('-') ? `−${creditsInColumn(amount.slice(1))}` : `+${creditsInColumn(amount)}`;
}

export function callsInWords(calls: number): string {
  return `${count(calls)} ${calls === 1 ? 'call' : 'calls'}`;
}

export function count(amount: number): string {
  return COUNT.format(amount);
}
