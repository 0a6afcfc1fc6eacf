// Declarations of names that build-page.ts adds to the page's sources.

/** Version of the gateway that the page was built with. */
declare const TOLLGATE_VERSION: string;

/** Style sheets, which are bundled and export nothing. */
declare module '*.css';
