/**
 * The detail of a check that an explanation leaves open, because the model of the call is not known. The page tells by it
 * that the check did not fail, and the domain is all that page and API both import.
 */
export const NOT_CHECKED = 'Not checked: it depends on the model.';
