import { randomUUID } from 'node:crypto';
import { readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';
import { carriedIPv4, type ParsedAddress } from '../domain/addresses.ts';
import type { Log } from '../log/log.ts';

const COUNTRY_FILES = ['geoip-country.dat', 'geoip-country6.dat'];
/** Pause after a failed load: each attempt blocks the event loop for some 10 ms. */
const RETRY_PAUSE_MS = 1_000;

const require = createRequire(import.meta.url);

/** The part of geoip-lite that we use; the package has no types. Requiring it reads its data synchronously. */
interface Geoip {
  /** Null if the address is in no range; `country` is "" if the range belongs to no country. */
  lookup(address: string): { readonly country: string } | null;
}

/**
 * Looks up the country of an address, for `blocked_countries`. Loading the data takes 10 MB and 12 ms, synchronously.
 * So it is loaded once, by `warmUp` or the first lookup, and a gateway without keys that block countries never loads
 * it.
 *
 * States: not loaded → loaded (final). After a failed load it stays not loaded; the first lookup after RETRY_PAUSE_MS
 * tries again.
 */
export class CountryLookup {
  readonly #log: Log;
  readonly #linkFolder: string;
  #geoip: Geoip | undefined;
  #failure: unknown;
  #retryAt = 0;

  /** `linkFolder` is created if missing and holds links to geoip-lite's country files. */
  constructor({ log, linkFolder }: { log: Log; linkFolder: string }) {
    this.#log = log;
    this.#linkFolder = linkFolder;
  }

  /** Loads the data now, so that no request waits for it. Logs failures; never throws. */
  warmUp(): void {
    try {
      this.#loaded();
    } catch {
      // Already logged.
    }
  }

  /**
   * ISO 3166-1 alpha-2 code, or undefined if the country is unknown. An IPv6 address that carries an IPv4 address has
   * that one's country. Takes 2 µs (IPv4) to 6 µs (IPv6), so results are
   * not cached. Throws if the data can't be loaded: a failure must not pass for an unknown country.
   */
  countryOf(address: ParsedAddress): string | undefined {
    return this.#loaded().lookup((carriedIPv4(address) ?? address).toString())?.country || undefined;
  }

  #loaded(): Geoip {
    if (this.#geoip) return this.#geoip;
    if (performance.now() < this.#retryAt) throw this.#failure;
    try {
      this.#geoip = loadGeoip(this.#linkFolder);
    } catch (error) {
      this.#log.error({ err: error }, 'failed to load country data; keys that block countries get 503');
      this.#failure = error;
      this.#retryAt = performance.now() + RETRY_PAUSE_MS;
      throw error;
    }
    return this.#geoip;
  }
}

/**
 * Loads geoip-lite with only its country files: 10 MB and 12 ms. The package prefers its city files if its folder has
 * them (115 MB, 165 ms; Node 24.21, geoip-lite 2.0.3) and takes only a folder, so it gets one with links. Both give the
 * same answers, except that the city files name a country for ranges that have none. If links can't be created, it
 * loads the city files.
 */
function loadGeoip(linkFolder: string): Geoip {
  if (!linkCountryFiles(linkFolder)) return require('geoip-lite') as Geoip;
  // The package reads this once, at load.
  Object.assign(globalThis, { geodatadir: linkFolder });
  try {
    return require('geoip-lite') as Geoip;
  } finally {
    Reflect.deleteProperty(globalThis, 'geodatadir');
  }
}

/** False if the folder or a link can't be created, for example on a disk without symbolic links. */
function linkCountryFiles(folder: string): boolean {
  // The package also reads GEODATADIR relative to its lib folder.
  const libFolder = dirname(require.resolve('geoip-lite'));
  const dataFolder = resolve(libFolder, process.env.GEODATADIR ?? '../data');
  try {
    makeFolder(folder);
    for (const file of COUNTRY_FILES) makeLink(join(folder, file), join(dataFolder, file));
    return true;
  } catch {
    return false;
  }
}

/** Creates the link or points it to `target`, atomically for the sake of other processes. */
function makeLink(path: string, target: string): void {
  if (linkedTo(path) === target) return;
  const fresh = `${path}.${randomUUID()}`;
  symlinkSync(target, fresh);
  renameSync(fresh, path);
}

function linkedTo(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
