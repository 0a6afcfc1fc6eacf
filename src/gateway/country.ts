import { randomUUID } from 'node:crypto';
import { readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';
import type { ParsedAddress } from '../domain/addresses.ts';
import type { Log } from '../log/log.ts';

const COUNTRY_FILES = ['geoip-country.dat', 'geoip-country6.dat'];
/** How long a failed load is left alone: each try takes some 10 ms, in which no other request is served. */
const RETRY_PAUSE_MS = 1_000;

const require = createRequire(import.meta.url);

/** The part of geoip-lite that is used; the package has no types. Requiring it reads its data, synchronously. */
interface Geoip {
  /** Null if the address is in no range; `country` is "" if the range belongs to no country. */
  lookup(address: string): { readonly country: string } | null;
}

/**
 * The country that an address belongs to, for `blocked_countries`. The data takes 10 MB and 12 ms to load,
 * synchronously; so it is loaded once, by `warmUp` or by the first lookup, and a gateway without a key that blocks
 * countries never pays.
 *
 * States: not loaded → loaded (final). After a failed load it stays not loaded, and the first lookup after
 * RETRY_PAUSE_MS tries again.
 */
export class CountryLookup {
  readonly #log: Log;
  readonly #linkFolder: string;
  #geoip: Geoip | undefined;
  #failure: unknown;
  #retryAt = 0;

  /** `linkFolder` is made if it is missing, and holds links to the country files of geoip-lite. */
  constructor({ log, linkFolder }: { log: Log; linkFolder: string }) {
    this.#log = log;
    this.#linkFolder = linkFolder;
  }

  /** Loads the data now, so that no request waits for it. Never throws: a failure is logged. */
  warmUp(): void {
    try {
      this.#loaded();
    } catch {
      // Logged where it was caught first.
    }
  }

  /**
   * ISO 3166-1 alpha-2 code; undefined: no country is known for the address. Takes 2 µs (IPv4) to 6 µs (IPv6), so that
   * no answers are cached. Throws if the data cannot be loaded: its failure must not pass for an unknown country.
   */
  countryOf(address: ParsedAddress): string | undefined {
    return this.#loaded().lookup(address.toString())?.country || undefined;
  }

  #loaded(): Geoip {
    if (this.#geoip) return this.#geoip;
    if (performance.now() < this.#retryAt) throw this.#failure;
    try {
      this.#geoip = loadGeoip(this.#linkFolder);
    } catch (error) {
      this.#log.error({ err: error }, 'country data could not be loaded; keys that block countries get 503');
      this.#failure = error;
      this.#retryAt = performance.now() + RETRY_PAUSE_MS;
      throw error;
    }
    return this.#geoip;
  }
}

/**
 * Loads geoip-lite with its country files alone: 10 MB and 12 ms. The package prefers its city files if its folder
 * has them (115 MB, 165 ms; Node 24.21, geoip-lite 2.0.3) and only takes a folder, so it gets one of links.
 * Both sets of files answer alike, except that the city files name one country for the ranges that have none. If no
 * links can be made, the city files are loaded.
 */
function loadGeoip(linkFolder: string): Geoip {
  if (!linkCountryFiles(linkFolder)) return require('geoip-lite') as Geoip;
  // The package reads this once, while it loads.
  Object.assign(globalThis, { geodatadir: linkFolder });
  try {
    return require('geoip-lite') as Geoip;
  } finally {
    Reflect.deleteProperty(globalThis, 'geodatadir');
  }
}

/** False: the folder or a link cannot be made, as on a disk without symbolic links. */
function linkCountryFiles(folder: string): boolean {
  // The package reads GEODATADIR relative to its lib folder, too.
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

/** Makes the link, or lets it lead to `target` from now on; at no time is there none, for other processes' sake. */
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
