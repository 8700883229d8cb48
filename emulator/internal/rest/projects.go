package rest

import (
	"net/http"

	bq "google.golang.org/api/bigquery/v2"
)

// projects: list, getServiceAccount
//
// Behavior:
//   - Any project is there: list shows the one that the server is for.
//   - A project's service account is made up.

func (s *Service) listProjects(*http.Request) (any, error) {
	id := s.options.Project
	return &bq.ProjectList{Kind: "bigquery#projectList", TotalItems: 1, Projects: []*bq.ProjectListProjects{{
		Kind: "bigquery#project", Id: id, FriendlyName: id, NumericId: 1, ProjectReference: &bq.ProjectReference{ProjectId: id},
	}}}, nil
}

func (s *Service) getServiceAccount(r *http.Request) (any, error) {
	return &bq.GetServiceAccountResponse{Kind: "bigquery#getServiceAccountResponse", Email: "bq-emulator@" + r.PathValue("project") + ".iam.gserviceaccount.com"}, nil
}
