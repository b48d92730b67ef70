import fc from 'fast-check';

/**
 * Properties are tried on the same values in every run, so that a test that was green stays green; who looks for more gives a property
 * another seed. How many values is a matter of time: a busy machine tries fewer.
 */
fc.configureGlobal({ seed: 1, interruptAfterTimeLimit: 5_000 });
