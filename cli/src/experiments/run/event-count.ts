export interface EventCount {
  /** Since the run began; undefined when it is not known. */
  readonly count: number | undefined;
  /** Where the count is from, or why there is none. */
  readonly evidence: string;
}
