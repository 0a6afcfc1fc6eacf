/** The detail of a check that an explanation leaves open, because the model of the call is not known. */
export const NOT_CHECKED = 'Not checked: it depends on the model.';
