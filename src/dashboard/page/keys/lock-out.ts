import type { KeyPatchBody } from '../../../api/views/bodies.ts';
import type { KeyView } from '../../../api/views/key-view.ts';
import { compileRanges, type ParsedAddress, parseAddress } from '../../../domain/addresses.ts';
import { normaliseCountry } from '../../../domain/countries.ts';
import { isWithin, parseActiveHours } from '../../../domain/hours.ts';
import { compileOrigins } from '../../../domain/origins.ts';
import { explainCall } from '../api/keys.ts';
import { countryName } from '../format/countries.ts';
import { moment } from '../format/time.ts';

/** Address and country from which the gateway sees this page; each undefined where it is not known. */
interface Place {
  readonly address: ParsedAddress | undefined;
  readonly country: string | undefined;
}

/**
 * Reasons why the session's key could no longer be used here, or could no longer manage, after `changes`. A restriction
 * counts as a reason too where its effect is not known. Empty where nothing is lost.
 */
export async function lockOutOf(key: KeyView, changes: KeyPatchBody): Promise<string[]> {
  const { allowed_ips: ips = [], blocked_countries: countries = [] } = changes;
  const isPlaced = ips.length > 0 || countries.length > 0;
  const place = isPlaced ? await placeOf(key) : { address: undefined, country: undefined };
  const reasons = [
    changes.can_manage === false && key.can_manage && 'It may not manage any more: it could change nothing.',
    expiryReason(changes.expires_at),
    hoursReason(changes.active_hours),
    ips.length > 0 && addressReason(ips, place),
    countries.length > 0 && countryReason(countries, key, place),
    originReason(changes.allowed_origins),
  ];
  return reasons.filter((reason) => typeof reason === 'string');
}

function expiryReason(at: string | null | undefined) {
  return at && Date.parse(at) <= Date.now() && `It has expired then: ${moment(at, 'local')} has passed.`;
}

function hoursReason(text: string | undefined) {
  const hours = text ? parseActiveHours(text) : undefined;
  return hours && !isWithin(hours, Date.now()) && `It is outside ${text} UTC now.`;
}

function addressReason(ips: readonly string[], { address }: Place) {
  if (!address) return 'Whether your own IP address is among the allowed ones cannot be told.';
  return (
    !compileRanges(ips).has(address) &&
    `Your own IP address, ${address.toString()}, is not among the allowed ones.`
  );
}

function countryReason(countries: readonly string[], key: KeyView, { country }: Place) {
  if (country) {
    return (
      countries.includes(country) && `Your IP address belongs to ${countryName(country)}, which is blocked.`
    );
  }
  // The gateway looks the country up only for a key that blocks countries; an unknown country passes the check.
  const isKnown = key.blocked_countries.length > 0;
  return !isKnown && 'Whether your own IP address belongs to one of the blocked countries cannot be told.';
}

function originReason(origins: readonly string[] = []) {
  const { origin } = location;
  return (
    origins.length > 0 &&
    !compileOrigins(origins).allows(origin) &&
    `The origin of this page, ${origin}, is not among the allowed ones.`
  );
}

/** Place of this page, read from the details of an explained call. */
async function placeOf(key: KeyView): Promise<Place> {
  try {
    const { checks } = await explainCall(key.id, { model: 'any' });
    const wordsOf = (name: string) =>
      checks
        .find(({ check }) => check === name)
        ?.detail.split(/[\s,]+/)
        .map((word) => word.replace(/\.$/, '')) ?? [];
    return {
      address: wordsOf('allowed_ips').map(parseAddress).find(Boolean),
      country: wordsOf('blocked_countries')
        .filter((word) => /^[A-Z]{2}$/.test(word))
        .map(normaliseCountry)
        .find(Boolean),
    };
  } catch {
    return { address: undefined, country: undefined };
  }
}
