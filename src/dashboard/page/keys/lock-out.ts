import type { ExplanationView } from '../../../api/explain/explanation-view.ts';
import type { KeyPatchBody, KeyView } from '../../../api/keys/key-view.ts';
import { compileRanges, type ParsedAddress, parseAddress } from '../../../domain/addresses.ts';
import { isWithin, parseActiveHours } from '../../../domain/hours.ts';
import type { CallerRestriction } from '../../../domain/key-settings.ts';
import { compileOrigins } from '../../../domain/origins.ts';
import { countryName } from '../format/countries.ts';
import { moment } from '../format/time.ts';

/** Address and country from which the gateway sees this page. Undefined: not known. A country of null: it has none. */
interface Place {
  readonly address: ParsedAddress | undefined;
  readonly country: string | null | undefined;
}

/**
 * Reasons why the session's key could no longer be used here, or could no longer manage, after `changes`. A restriction
 * counts as a reason too where its effect is not known. Empty if nothing is lost. `origin` is that of this page, and
 * `explain` asks the gateway about a call from here.
 */
export async function lockOutOf(
  key: Pick<KeyView, 'can_manage'>,
  changes: KeyPatchBody,
  origin: string,
  explain: () => Promise<Pick<ExplanationView, 'caller'>>,
): Promise<string[]> {
  const { allowed_ips: ips = [], blocked_countries: countries = [] } = changes;
  const isPlaced = ips.length > 0 || countries.length > 0;
  const place = isPlaced ? await placeOf(explain) : { address: undefined, country: undefined };
  /** Every restriction that holds for the API's own routes, too. */
  const restricted: Readonly<Record<CallerRestriction, Reason>> = {
    expires_at: expiryReason(changes.expires_at),
    active_hours: hoursReason(changes.active_hours),
    allowed_ips: ips.length > 0 && addressReason(ips, place),
    blocked_countries: countries.length > 0 && countryReason(countries, place),
    allowed_origins: originReason(changes.allowed_origins, origin),
  };
  const unmanaged =
    changes.can_manage === false && key.can_manage && 'It can no longer manage keys or change anything.';
  return [unmanaged, ...Object.values(restricted)].filter((reason) => typeof reason === 'string');
}

type Reason = string | false | '' | null | undefined;

function expiryReason(at: string | null | undefined) {
  return at && Date.parse(at) <= Date.now() && `It expires at once: ${moment(at, 'local')} has passed.`;
}

function hoursReason(text: string | undefined) {
  const hours = text ? parseActiveHours(text) : undefined;
  return hours && !isWithin(hours, Date.now()) && `The current time is outside ${text} UTC.`;
}

function addressReason(ips: readonly string[], { address }: Place) {
  if (!address) return 'Your own IP address could not be checked against the allowed IP addresses.';
  return (
    !compileRanges(ips).has(address) &&
    `Your own IP address ${address.toString()} is not in the allowed IP addresses.`
  );
}

function countryReason(countries: readonly string[], { country }: Place) {
  if (country === undefined) return 'Your own IP address could not be checked against the blocked countries.';
  // An address without a country passes the check.
  return (
    country !== null &&
    countries.includes(country) &&
    `Your IP address is in ${countryName(country)}, which is blocked.`
  );
}

function originReason(origins: readonly string[] = [], origin: string) {
  return (
    origins.length > 0 &&
    !compileOrigins(origins).allows(origin) &&
    `The origin of this page, ${origin}, is not in the allowed origins.`
  );
}

/** Place of this page, as the gateway checks it. */
async function placeOf(explain: () => Promise<Pick<ExplanationView, 'caller'>>): Promise<Place> {
  try {
    const { ip, country } = (await explain()).caller;
    return { address: ip === null ? undefined : parseAddress(ip), country };
  } catch {
    return { address: undefined, country: undefined };
  }
}
