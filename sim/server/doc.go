// Package server is the HTTP face of the simulated engine: the OpenAI API and a metrics
// page in the words of a real engine, driven by the wall clock.
//
// Everything it sends says that it is a simulation: the header X-InferenceBench-Simulated,
// the version string and the owner of the model.
package server
