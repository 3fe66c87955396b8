import { pythonProgram } from '../fetch/python-environment.ts';

/** Airflow with what its page needs: only the long run does. */
export function airflow(): Promise<string> {
  return pythonProgram('airflow', [
    'apache-airflow==3.1.8',
    'apache-airflow-providers-amazon==9.39.0',
    'apache-airflow-providers-standard==1.21.0',
  ]);
}
