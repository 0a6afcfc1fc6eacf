/**
 * Control characters, for the patterns below. These use only constructs that every validator supports: no look-around,
 * back-references or `\p`. The routes reject text that patterns can't exclude, such as half a surrogate pair.
 */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
export const TEXT_PATTERNS = {
  /** One line that is not blank. */
  line: `^[^${CONTROL}]*[^${CONTROL}\\s][^${CONTROL}]*$`,
  /** One line that is not blank, without spaces around it. */
  trimmedLine: `^[^${CONTROL}\\s]([^${CONTROL}]*[^${CONTROL}\\s])?$`,
  /** No control characters but line breaks and tabs. */
  printable: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$',
  /** No U+0000, which PostgreSQL cannot store. */
  storable: '^[^\\u0000]*$',
  email: `^[^\\s@${CONTROL}]+@[^\\s@${CONTROL}]+$`,
  /** Empty, or an http(s) URL without user name and password. */
  webhookUrl: `^([Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\\\${CONTROL}]+([/?#][^\\s\\\\${CONTROL}]*)?)?$`,
  ipRange: '^[0-9A-Fa-fXx:.]+(/[0-9]{1,3})?$',
  /** Two letters; whether they are a country's is not a pattern's to say. */
  country: '^[A-Za-z]{2}$',
  origin: '^([A-Za-z][A-Za-z0-9+.-]*://)?[^/?#@\\s\\\\]+/?$|^[Ff][Ii][Ll][Ee]:///?$',
} as const;

/**
 * Keywords that exclude amounts smaller than the sixth decimal. `multipleOf: 0.000001` would also refuse good amounts,
 * because validators divide with floating-point numbers.
 */
export const SIX_DECIMALS = {
  ofPositive: { not: { exclusiveMinimum: 0, exclusiveMaximum: 0.000001 } },
  /** Any amount with six decimals but 0. */
  ofSigned: { not: { exclusiveMinimum: -0.000001, exclusiveMaximum: 0.000001 } },
} as const;
