/** SQL for how many seconds ago a time was; 0 where it is NULL. */
export function ageInSeconds(time: string): string {
  return `coalesce(greatest(extract(epoch FROM clock_timestamp() - ${time}), 0), 0)::float8`;
}
