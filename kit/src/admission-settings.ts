/** What an operator decides about new orders; `{"shedPercent": 30}` in the file that ADMISSION_FILE names. */
export interface AdmissionSettings {
  /** Share of new orders that are shed, 0 to 100. */
  readonly shedPercent: number;
}

/** Unknown keys pass: the file may be newer than this service. Throws TypeError for another shape. */
export function parseAdmissionSettings(text: string): AdmissionSettings {
  const values: unknown = JSON.parse(text);
  const { shedPercent = undefined } =
    typeof values === 'object' && values !== null ? (values as AdmissionSettings) : {};
  if (typeof shedPercent !== 'number' || !(shedPercent >= 0 && shedPercent <= 100)) {
    throw new TypeError('the settings of admission are {"shedPercent": <0 to 100>}');
  }
  return { shedPercent };
}
