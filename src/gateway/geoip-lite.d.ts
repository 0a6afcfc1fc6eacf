/** The part of geoip-lite that is used; the package has no types. Importing it loads its data, synchronously. */
declare module 'geoip-lite' {
  const geoip: {
    /** Null where the address is in no range; `country` is "" where the range belongs to no country. */
    lookup(address: string): { readonly country: string } | null;
  };
  export default geoip;
}
