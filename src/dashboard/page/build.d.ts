/** Declarations of what build-page.ts adds to the sources of the page. */

/** Version of the gateway that the page was built with. */
declare const TOLLGATE_VERSION: string;

/** Styles are bundled, and have nothing to import. */
declare module '*.css';
