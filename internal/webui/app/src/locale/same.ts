/** The same keys with sentences of another language: a missing or additional one does not compile. */
export type Same<T> = { readonly [K in keyof T]: T[K] extends string ? string : Same<T[K]> };
