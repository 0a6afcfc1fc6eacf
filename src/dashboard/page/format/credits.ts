/** Given decimal text it formats every digit of it: no float comes between. */
const DECIMALS = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const COUNT = new Intl.NumberFormat('en');

/** Credits for people: thousands apart, two to six decimals. Takes the API's numbers and its decimal strings. */
export function credits(amount: number | string): string {
  return DECIMALS.format(String(amount) as `${number}`);
}

/** The same with its sign, for changes of a balance. */
export function signedCredits(amount: string): string {
  return amount.startsWith('-') ? `−${credits(amount.slice(1))}` : `+${credits(amount)}`;
}

export function count(amount: number): string {
  return COUNT.format(amount);
}
